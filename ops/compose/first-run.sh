#!/bin/sh
# Makes the secrets of an installation, once: sh ops/compose/first-run.sh [folder]
#
# Keep them with the backups, apart from them: without secrets_key the keys of data sources cannot be read again,
# without participant_key people are no longer recognised. What is there is never changed.
set -eu
umask 077
folder=${1:-"$(dirname "$0")/../secrets"}
if [ -e "$folder" ]; then
  echo "first-run: $folder is there already, and stays as it is." >&2
  exit 1
fi
# Made under another name, so that one that is interrupted leaves nothing half.
partial="$folder.partial.$$"
trap 'rm -rf "$partial"' EXIT
mkdir -p "$partial"

# 48 random bytes as 64 letters and digits; what base64 has beside those is left out of more than enough.
random() {
  head -c 128 /dev/urandom | base64 | tr -d '/+=\n' | cut -c "1-$1"
}
put() {
  printf '%s\n' "$2" > "$partial/$1"
  # Containers run as users of their own and get these files as they are; the folder is what keeps others out.
  chmod 0444 "$partial/$1"
}

postgres_password=$(random 40)
owner_password=$(random 40)
application_password=$(random 40)
put postgres_password "$postgres_password"
put owner_database_password "$owner_password"
put application_database_password "$application_password"
put temporal_database_password "$(random 40)"
put postgres_url "postgresql://postgres:$postgres_password@postgres:5432/postgres"
put owner_database_url "postgresql://sdp_migrate:$owner_password@postgres:5432/platform"
put database_url "postgresql://sdp_app:$application_password@postgres:5432/platform"
put s3_access_key_id "$(random 20)"
put s3_secret_access_key "$(random 40)"
put token_key "$(random 64)"
put secrets_key "$(random 64)"
put participant_key "$(random 64)"
put auth_service_key "$(random 64)"
put admin_password "$(random 24)"

chmod 0700 "$partial"
mv "$partial" "$folder"
trap - EXIT
echo "The secrets are in $folder. The first administrator is admin, with the password in $folder/admin_password."
