-- What is to be sealed, and the entries of a segment, in their order.
CREATE INDEX CONCURRENTLY audit_log_segment_idx ON audit_log (segment, id);
