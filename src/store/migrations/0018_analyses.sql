-- What analyzers say of attempts, beside their outcome: read by people and reports, counted in no score.
create table analyses (
  run_id text collate "C" not null,
  task int not null,
  attempt int not null,
  generation int not null,
  analyzer text collate "C" not null,
  position int not null,
  summary text,
  -- Numbers by name, as JSON.
  facts text not null,
  error text,
  primary key (run_id, task, attempt, generation, analyzer)
);
