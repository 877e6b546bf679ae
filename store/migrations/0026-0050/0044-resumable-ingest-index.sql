-- stepwise
alter table resumable_upload validate constraint resumable_upload_state_check;
create index concurrently resumable_upload_unfinished on resumable_upload (user_id)
  where state in ('open', 'whole', 'stored');
