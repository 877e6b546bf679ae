-- Reports over sessions without a dashboard. The shipped list of sessions has all of them from now on.
alter table report_definition add column covers text not null default 'dashboards' check (covers in ('dashboards', 'sessions'));
update report_definition set covers = 'sessions' where key = 'session-list';
