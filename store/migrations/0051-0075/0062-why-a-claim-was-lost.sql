-- Why a claim was lost, where the platform knows more than that no call came: the process of a deployed runner died.
alter table node_claim add column if not exists lost_reason text;
