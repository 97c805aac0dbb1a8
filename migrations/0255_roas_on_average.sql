-- A ROAS goal is met on average, so its multiplier may exceed 1: docs/spec/budgets.md#roas-goals.
alter table roas_multiplier drop constraint roas_multiplier_multiplier_check;
alter table roas_multiplier add check (multiplier between 0.2 and 5);
