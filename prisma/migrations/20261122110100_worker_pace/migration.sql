-- What an attempt takes a worker of late, in milliseconds, so that a wait can be told in time; null until it has run one.
ALTER TABLE workers ADD COLUMN attempt_ms integer;
