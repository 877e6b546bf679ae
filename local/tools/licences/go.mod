module simulation-data-platform/tools/licences

go 1.26

require github.com/google/licensecheck v0.3.1
