-- Whether an operator, not the account, took versions out of use last: jobs that move for it never cost more than the price that they were accepted at.
-- A process of an earlier version leaves it as it is.
ALTER TABLE deployments ADD COLUMN moved_by_operator boolean DEFAULT false NOT NULL;
