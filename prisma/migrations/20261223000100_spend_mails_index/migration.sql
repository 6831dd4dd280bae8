-- Which warnings are to be mailed: what a chore asks every few seconds.
CREATE INDEX CONCURRENTLY label_use_mail_idx ON label_use (account_id) WHERE day_mail > 0 OR month_mail > 0;
