// Finds which programs a shell text starts, whatever surrounds their names.
import { expect, test } from 'vitest';
import { programsIn } from './shell-text.ts';

test.each([
  ['curl -sS http://h/a', ['curl']],
  [`curl -d '{"a; rm b":"c | d"}' h \\\n  -H "x: y" > /dev/null`, ['curl']],
  ['cd a && test -f b && find . ! -name c -delete', ['find']],
  ['x="$(node -p 1)" y="$(git log)" && echo $x', ['node', 'git']],
  ['set -e\nmount --bind a b # not this\nif touch c 2>/dev/null; then exit 3; fi\nexec "$@"', ['mount', 'touch']],
  ['ulimit -f 2; exec "$0" "$@"', []],
  ['A=1 B=2 exec env true | sort || ! grep x', ['env', 'sort', 'grep']],
  ['echo "a=$(date -u)" >> b\ncp "$(npm root)/c" d "e; rm" && mv d "e"', ['cp', 'mv', 'date', 'npm']],
  ["cat > a <<'END'\n- rm\nx $(rm b)\nEND\ncp a b", ['cat', 'cp']],
  ['sleep 1 & wait 2>&1', ['sleep']],
])('%s', (text, programs) => {
  expect(programsIn(text)).toEqual(programs);
});
