-- Cells that a run takes from another one.
create table reuses (
  run_id text collate "C" primary key,
  source_run text collate "C" not null,
  -- Cells were taken by their names, although what their answers depend on differs.
  allow_mismatch boolean not null,
  -- Scored cells of the source when it was looked at.
  scored int not null,
  taken int not null,
  graded int not null,
  mismatched int not null,
  -- Cells of equal names that were not taken, because they differ.
  refused int not null,
  -- What differs, as JSON.
  differences text not null
);

-- The scored cells of a run that others may take, with the fingerprints of their answers: where one was taken although
-- it differs, those of the cell in which its agent ran.
create function list_given_cells(p_source text) returns table (
  task int, attempt int, generation int, setup_digest text, content_digest text, grading_digest text, name text,
  model_id text, case_id text, made_run text, made_task int
) language sql stable as $$
  select a.task, a.attempt, a.generation, coalesce(o.setup_digest, t.setup_digest),
    coalesce(o.content_digest, t.content_digest), t.grading_digest, r.name, t.model_id, t.case_id,
    coalesce(o.run_id, p_source), coalesce(o.task, a.task)
  from latest_attempts a
  join tasks t on t.run_id = p_source and t.task = a.task
  join requests r on r.run_id = p_source and r.request_index = t.request_index
  left join tasks o on a.mismatch and o.run_id = a.origin_run and o.task = a.origin_task
    and o.run_id = any (array(select distinct m.origin_run from attempts m where m.run_id = p_source and m.mismatch))
  where a.run_id = p_source and a.outcome = 'scored'
$$;

-- The cells of a run that a new run can take over, those of skipped models too: by equal fingerprints and attempt, each at most once; then, if
-- that is allowed, by equal names. A source that is still running gives what is recorded.
create function match_cells(p_run text, p_source text, p_by_name boolean) returns table (
  task int, attempt int, source_task int, source_attempt int, source_generation int,
  mismatch boolean, same_grading boolean, gradable boolean
) language sql stable set enable_nestloop = off as $$
  with wanted as materialized (
    select a.task, a.attempt, t.setup_digest, t.content_digest, t.grading_digest, t.gradable, r.name, t.model_id,
      t.case_id, row_number() over (partition by t.setup_digest, t.content_digest, a.attempt order by a.task) as nth
    from attempts a
    join tasks t on t.run_id = p_run and t.task = a.task
    join requests r on r.run_id = p_run and r.request_index = t.request_index
    where a.run_id = p_run and a.generation = 1 and a.planned and (a.outcome is null or a.outcome = 'skipped')
  ), given as materialized (
    select g.*, row_number() over (partition by g.setup_digest, g.content_digest, g.attempt order by g.task) as nth
    from list_given_cells(p_source) g
  ), equal as materialized (
    select w.task, w.attempt, g.task as source_task, g.attempt as source_attempt, g.generation as source_generation,
      false as mismatch, w.grading_digest = g.grading_digest as same_grading, w.gradable
    from wanted w join given g on g.setup_digest = w.setup_digest and g.content_digest = w.content_digest
      and g.attempt = w.attempt and g.nth = w.nth
  )
  select * from equal
  union all
  select w.task, w.attempt, g.task, g.attempt, g.generation, true, w.grading_digest = g.grading_digest, w.gradable
  from wanted w join given g on g.name = w.name and g.model_id = w.model_id and g.case_id = w.case_id
    and g.attempt = w.attempt
  left join equal used on used.source_task = g.task and used.source_attempt = g.attempt
  left join equal done on done.task = w.task and done.attempt = w.attempt
  where p_by_name and used.task is null and done.task is null
$$;

-- Takes them: outcome and scores as they are, or where they would be scored in another way the answer alone, to be
-- graded. What can be graded only while it runs is left to run again. A row names the cell in which the agent ran.
create function reuse_cells(
  p_run text, p_source text, p_allow_mismatch boolean,
  out scored int, out taken int, out graded int, out mismatched int
) language plpgsql set enable_nestloop = off as $$
#variable_conflict use_column
begin
  select count(*) into scored from latest_attempts where run_id = p_source and outcome = 'scored';
  with matches as materialized (
    select * from match_cells(p_run, p_source, p_allow_mismatch) m where m.same_grading or m.gradable
  ), kept_scores as (
    insert into scores (run_id, task, attempt, generation, scorer, position, kind, weight, required, value, pass, code,
      explanation, metrics)
    select p_run, m.task, m.attempt, 1, s.scorer, s.position, s.kind, s.weight, s.required, s.value, s.pass, s.code,
      s.explanation, s.metrics
    from matches m join scores s on s.run_id = p_source and s.task = m.source_task and s.attempt = m.source_attempt
      and s.generation = m.source_generation
    where m.same_grading
  ), kept_analyses as (
    insert into analyses (run_id, task, attempt, generation, analyzer, position, summary, facts, error)
    select p_run, m.task, m.attempt, 1, s.analyzer, s.position, s.summary, s.facts, s.error
    from matches m join analyses s on s.run_id = p_source and s.task = m.source_task
      and s.attempt = m.source_attempt and s.generation = m.source_generation
    where m.same_grading
  )
  update attempts n set
    outcome = case when m.same_grading then s.outcome end,
    score = case when m.same_grading then s.score end,
    pass = case when m.same_grading then s.pass end,
    detail = case when m.same_grading then s.detail end,
    recorded_at = case when m.same_grading then clock_timestamp() end,
    try_number = case when m.same_grading then s.try_number else 0 end,
    answer_digest = case when m.same_grading then s.answer_digest end,
    answer_preview = case when m.same_grading then s.answer_preview end,
    plan_digest = case when m.same_grading then s.plan_digest end,
    reason_code = null,
    settled = false,
    mismatch = m.mismatch,
    origin_run = coalesce(s.origin_run, p_source),
    origin_task = coalesce(s.origin_task, s.task),
    origin_attempt = coalesce(s.origin_attempt, s.attempt),
    origin_generation = coalesce(s.origin_generation, s.generation)
  from matches m join attempts s on s.run_id = p_source and s.task = m.source_task and s.attempt = m.source_attempt
    and s.generation = m.source_generation
  where n.run_id = p_run and n.task = m.task and n.attempt = m.attempt and n.generation = 1;
  -- Under `pass` a task that is solved needs no more.
  update attempts a set planned = false
  from (
    select a.task, min(a.attempt) as attempt from attempts a
    join tasks t on t.run_id = p_run and t.task = a.task
    join requests r on r.run_id = p_run and r.request_index = t.request_index
    where a.run_id = p_run and a.pass and r.strategy = 'pass' group by a.task
  ) solved
  where a.run_id = p_run and a.task = solved.task and (a.attempt > solved.attempt or a.outcome is null or a.outcome = 'skipped');
  select count(outcome), count(*) - count(outcome), count(*) filter (where mismatch)
  into taken, graded, mismatched
  from attempts where run_id = p_run and planned and origin_run is not null;
end $$;

-- Cells of equal names that differ in what their answers depend on, by what differs, each with one as an example: its
-- task, and the one in which the other answer was made.
create function list_refused_cells(p_run text, p_source text) returns table (
  setup_digest text, source_setup_digest text, same_content boolean, cells int, refused int,
  task int, made_run text, made_task int
) language sql stable set enable_nestloop = off as $$
  select w.setup_digest, g.setup_digest, w.content_digest = g.content_digest, count(*)::int,
    (count(*) filter (where w.origin_run is null))::int, min(w.task),
    (array_agg(g.made_run order by w.task, w.attempt))[1], (array_agg(g.made_task order by w.task, w.attempt))[1]
  from (
    select r.name, a.attempt, a.origin_run, t.* from attempts a
    join tasks t on t.run_id = p_run and t.task = a.task
    join requests r on r.run_id = p_run and r.request_index = t.request_index
    where a.run_id = p_run and a.generation = 1 and (a.planned or a.mismatch) and (a.origin_run is null or a.mismatch)
  ) w join list_given_cells(p_source) g on g.name = w.name and g.model_id = w.model_id and g.case_id = w.case_id
    and g.attempt = w.attempt
  where w.setup_digest <> g.setup_digest or w.content_digest <> g.content_digest
  group by 1, 2, 3 order by count(*) desc, min(w.task) limit 20
$$;
