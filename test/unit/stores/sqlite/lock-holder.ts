// A child process that takes the file's lock, prints that, and keeps it until it gets a line to release it.
import { once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';

const database = new DatabaseSync(process.argv[2] ?? '', { timeout: 5000 });
database.exec('BEGIN EXCLUSIVE');
process.stdout.write('locked\n');
await once(process.stdin, 'data');
database.exec('ROLLBACK');
database.close();
process.stdout.write('free\n');
process.stdin.destroy();
