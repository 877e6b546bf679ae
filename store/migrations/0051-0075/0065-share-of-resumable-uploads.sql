-- Digest of the caller whose share of unfinished uploads it uses: a device, a person, or a network address of those who
-- need no account and have one name together. Null: of an earlier version.
alter table resumable_upload add column if not exists counted_for text;
