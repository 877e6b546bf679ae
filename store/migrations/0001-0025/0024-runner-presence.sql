alter table runner_instance
  -- Its program said that it ends; null again with its next claim.
  add column signed_off_at timestamptz,
  -- What its newest claim asked for; null: all that it may have.
  add column templates text[];
