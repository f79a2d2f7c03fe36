// Finds which programs a shell text starts, so that none is started that was not declared.

const BUILT_IN =
  'break case cd command continue do done echo elif else esac eval exec exit export false fi for hash if jobs kill printf pwd read return set shift test then trap true ulimit umask unset until wait while [ : . ! { }';
const NO_PROGRAM = new Set(BUILT_IN.split(' '));
/** A command follows these. */
const GO_ON = new Set('command do elif else exec if then until while ! {'.split(' '));

/** Names in order of first use. Quoted names and those from variables are not found: those are for `"$@"`. */
export function programsIn(text: string): string[] {
  /** Commands whose output a text in double quotes has. */
  const inside: string[] = [];
  const bare = text
    .replaceAll(/\\\n/g, ' ')
    .replaceAll(/<<'?(\w+)'?\n[\s\S]*?^\1$/gm, ' ')
    .replaceAll(/'[^']*'|"(?:[^"\\$]|\\.|\$\([^()]*\)|\$(?!\())*"/g, (quoted) => {
      if (quoted.startsWith('"')) inside.push(...(quoted.match(/\$\([^()]*\)/g) ?? []));
      return '""';
    })
    .replaceAll(/\d*[<>]+&?\s*\S+/g, ' ')
    .replaceAll(/#.*$/gm, '');
  const commands = [bare, ...inside]
    .join('\n')
    .split(/&&|\|\||\$\(|[;|&\n()`]/)
    .map((command) => firstWord(command.trim().split(/\s+/)));
  return [...new Set(commands.filter((name) => /^[\w./[-]+$/.test(name) && !NO_PROGRAM.has(name)))];
}

function firstWord(words: readonly string[]): string {
  const at = words.findIndex((word) => !GO_ON.has(word) && !/^\w+=/.test(word));
  return words[at] ?? '';
}
