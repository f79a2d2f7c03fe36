// What a command is given: its arguments, its configuration, and a way to print.
import type { Arguments } from './arguments.ts';
import type { Command, CommandContext, Io } from './command.ts';

export function contextOf(command: Command, { operands, values }: Arguments, io: Io): CommandContext {
  const text = (flag: string): string | undefined => values.get(flag)?.[0];
  const json = values.has('json');
  let warned = command.logsWarnings === true;
  return {
    io,
    command,
    json,
    operands,
    text,
    required(flag) {
      const value = text(flag);
      if (value === undefined) throw new Error(`flag --${flag} is used as required but not declared so`);
      return value;
    },
    texts: (flag) => values.get(flag),
    on: (flag) => values.has(flag),
    async config() {
      // Loaded here: help and wrong flags need neither the schema nor the YAML parser.
      const { loadConfig } = await import('../config/load.ts');
      const flags = {
        store: text('store'),
        listen: text('listen'),
        ops: text('ops'),
        engineUrls: values.get('engine-url'),
        engineProtocol: text('engine-protocol'),
      };
      const config = loadConfig({ file: text('config'), env: io.env, flags });
      if (!warned) for (const warning of config.sources.warnings) io.err(`lingate ${command.name}: warning: ${warning}\n`);
      warned = true;
      return config;
    },
    print: (value, forPeople) => io.out(`${json ? JSON.stringify(value) : forPeople()}\n`),
  };
}
