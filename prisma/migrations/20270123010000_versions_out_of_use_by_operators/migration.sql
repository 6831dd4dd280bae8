-- Whether an operator, not the account, took this version out of use: jobs that leave it never cost more than the price that they were accepted at.
-- The row of a deployment says it of the deployment's own version. A process of an earlier version leaves both as they are.
ALTER TABLE deployments ADD COLUMN moved_by_operator boolean DEFAULT false NOT NULL;
ALTER TABLE deployment_versions ADD COLUMN moved_by_operator boolean DEFAULT false NOT NULL;
