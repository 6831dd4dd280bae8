-- Models of the library that each worker of a deployment has before it is ready: [{"folder": …, "name": …}], in the order in which they come.
ALTER TABLE deployments ADD COLUMN models jsonb NOT NULL DEFAULT '[]';
ALTER TABLE deployment_versions ADD COLUMN models jsonb NOT NULL DEFAULT '[]';

-- What a worker says of them: how far they are, or why some are not there. Null: nothing is to be said.
ALTER TABLE workers ADD COLUMN models_note text;
