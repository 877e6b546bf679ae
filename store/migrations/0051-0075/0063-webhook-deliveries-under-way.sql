-- How long a delivery counts as being sent: one that is asked for again meanwhile must not be sent beside it.
alter table webhook_delivery add column if not exists sent_until timestamptz;
