// A step of the schema: events that are still to be told, who tells them, and which percents of a period were told.

export const OUTBOX = `
CREATE TABLE outbox (
  no INTEGER PRIMARY KEY,
  event_id TEXT NOT NULL UNIQUE,
  team_id TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  -- When it is to be sent, and how often that was tried in vain.
  due_ms INTEGER NOT NULL,
  tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
  facts TEXT NOT NULL CHECK (json_valid(facts))
) STRICT;
CREATE INDEX outbox_by_due ON outbox (due_ms, no);
CREATE INDEX outbox_by_team ON outbox (team_id);

-- The one process that sends, until when, and by which rules events are kept: processes without rules of their own follow them.
CREATE TABLE outbox_lease (
  no INTEGER PRIMARY KEY CHECK (no = 1),
  holder TEXT NOT NULL,
  until_ms INTEGER NOT NULL,
  rules TEXT NOT NULL CHECK (json_valid(rules))
) STRICT;

-- The highest percent that was told in a period; gone when the period is closed.
CREATE TABLE told_percents (
  team INTEGER NOT NULL,
  period_no INTEGER NOT NULL,
  percent INTEGER NOT NULL,
  PRIMARY KEY (team, period_no)
) STRICT, WITHOUT ROWID;
`;

/** Of a team that is deleted without its usage: that alone is still told. */
export const FORGET_ALL_EVENTS = `DELETE FROM outbox WHERE team_id = ? AND json_extract(facts, '$.kind') <> 'team_deleted'`;

/** Of one whose usage stays: what holds a name or a label is told to nobody any more. */
export const FORGET_EVENTS = `DELETE FROM outbox WHERE team_id = ?
  AND json_extract(facts, '$.kind') NOT IN ('credit_threshold', 'period_closed', 'usage_day', 'team_deleted')`;
