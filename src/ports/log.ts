// The log: only allow-listed fields, so that no text, key or engine output slips in with an object.

export type LogFields = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}
