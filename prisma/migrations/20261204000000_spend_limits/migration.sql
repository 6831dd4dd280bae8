-- The most that a job may cost, where its submission said so: its hold is never extended beyond it.
ALTER TABLE jobs ADD COLUMN spend_limit_micros BIGINT;
