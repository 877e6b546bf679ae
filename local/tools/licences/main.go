// Tells the licences of folders, as pkg.go.dev does: by the texts of the files that are called like licences.
//
//	licences < folders        one a line
//
// Prints an object: for each folder the SPDX ids of the licences in it; none when a text is not known well enough.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/google/licensecheck"
)

// Of a file's words, that belong to known licences; pkg.go.dev asks for as much.
const leastPercent = 75

var licenceFile = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying)([-._][\w-]+)*$`)

func main() {
	found := map[string][]string{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		ids, err := licencesOf(lines.Text())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		found[lines.Text()] = ids
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func licencesOf(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	ids := []string{}
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !licenceFile.MatchString(entry.Name()) || filepath.Ext(entry.Name()) == ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		coverage := licensecheck.Scan(text)
		if coverage.Percent < leastPercent {
			return []string{}, nil
		}
		for _, match := range coverage.Match {
			if !match.IsURL && !slices.Contains(ids, match.ID) {
				ids = append(ids, match.ID)
			}
		}
	}
	slices.Sort(ids)
	return ids, nil
}
