-- Upload-Metadata as the caller sent it: tus asks for it to be repeated. Null: without, and of uploads from before.
alter table resumable_upload add column upload_metadata text;
