/** Options of PostgreSQL's sessions. */

/**
 * The server asks a silent client every two seconds whether it is still there, so that the locks of one that vanished are
 * released. A line that is cut for less than twelve seconds ends no session.
 */
export const endsWithLostClient =
  '-c tcp_keepalives_idle=2 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=5 -c tcp_user_timeout=12000';

/**
 * A prepared statement is planned once a session, whatever the values of its calls. By itself PostgreSQL plans many of
 * them again at each call, once it has the statistics of a used database: of the processor time of a node run, as much as
 * all their executions.
 */
export const plannedOnce = '-c plan_cache_mode=force_generic_plan';

/** Sent in a transaction before a statement whose best plan depends on its values. */
export const planForValues = 'set local plan_cache_mode = force_custom_plan';
