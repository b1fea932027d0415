-- As in 0004, but what fits is taken by one update: the reservation of a run is the one row that all of its
-- calls share, and every touch of it makes the others wait.
create or replace function reserve_scope(
  p_run text, p_scope text, p_tokens bigint, p_usd numeric, p_warn boolean,
  out refusal text, out cap numeric, out needed numeric, out unit text
) language plpgsql as $$
declare
  held reservations;
  usd numeric := coalesce(p_usd, 0);
  over_usd boolean;
  over_tokens boolean;
begin
  loop
    update reservations set
      reserved_tokens = reserved_tokens + p_tokens,
      reserved_usd = reserved_usd + usd,
      open_calls = open_calls + 1,
      exceeded_at = case
        when coalesce(spent_usd + usd > cap_usd, false) or coalesce(spent_tokens + p_tokens > cap_tokens, false)
        then coalesce(exceeded_at, clock_timestamp()) else exceeded_at end
    where run_id = p_run and scope = p_scope and (p_warn or (stop_reason is null
      and coalesce(spent_usd + reserved_usd + usd <= cap_usd, true)
      and coalesce(spent_tokens + reserved_tokens + p_tokens <= cap_tokens, true)));
    if found then return; end if;

    select * into held from reservations where run_id = p_run and scope = p_scope for update;
    if not found then return; end if;
    over_usd := coalesce(held.spent_usd + held.reserved_usd + usd > held.cap_usd, false);
    over_tokens := coalesce(held.spent_tokens + held.reserved_tokens + p_tokens > held.cap_tokens, false);
    if over_usd or over_tokens or held.stop_reason is not null then
      unit := case when over_usd or held.cap_tokens is null then 'usd' else 'tokens' end;
      cap := case unit when 'usd' then held.cap_usd else held.cap_tokens end;
      needed := case unit when 'usd' then held.spent_usd + usd else held.spent_tokens + p_tokens end;
      refusal := case when held.stop_reason is not null then 'over'
        when held.open_calls > 0 then 'wait' else 'over' end;
      return;
    end if;
    -- Room was made between the two statements: take it now, the row is locked.
  end loop;
end $$;
