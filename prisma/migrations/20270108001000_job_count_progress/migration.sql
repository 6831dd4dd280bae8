-- How far the starts and ends of jobs are in the metrics of the objectives: the last move that is counted.
CREATE TABLE job_count_progress (
    name text PRIMARY KEY,
    at timestamptz(3) NOT NULL,
    job_id uuid NOT NULL,
    seq integer NOT NULL
);
