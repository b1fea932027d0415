-- Tools of MCP servers as the request first saw them: the first list wins, and models are told it from then on.
create table request_tools (
  run_id text collate "C" not null,
  request_index int not null,
  server text collate "C" not null,
  -- Blob of the list.
  digest text not null,
  recorded_at timestamptz not null default now(),
  primary key (run_id, request_index, server)
);
