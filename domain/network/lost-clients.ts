/**
 * Options of a PostgreSQL session. The server asks a silent client every two seconds whether it is still there, so that
 * the locks of one that vanished are released. A line that is cut for less than twelve seconds ends no session.
 */
export const endsWithLostClient =
  '-c tcp_keepalives_idle=2 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=5 -c tcp_user_timeout=12000';
