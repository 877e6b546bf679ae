/** `sdp completion`: scripts for the shell, made from the commands themselves. */
import { Argument, type Command } from 'commander';
import type { AddCommand } from '../cli.ts';

export const addCompletion: AddCommand = (program) => {
  program
    .command('completion')
    .description('Prints a shell completion script.')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh']))
    .addHelpText(
      'after',
      `\nExamples:\n  $ source <(sdp completion bash)\n  $ sdp completion zsh >~/.zfunc/_sdp`,
    )
    .action((shell: 'bash' | 'zsh') => {
      const cases = [...wordsByPath(program)].map(([path, words]) => `    '${path}') words='${words}' ;;`);
      console.log(shell === 'bash' ? bash(cases) : zsh(cases));
    });
};

/** What may follow each command: `sdp sessions` leads to its subcommands and options. */
function wordsByPath(command: Command, path = 'sdp', inherited: readonly string[] = []): Map<string, string> {
  const own = command.options.flatMap(({ long }) => long ?? []);
  const options = [...inherited, ...own];
  const names = command.commands.map((one) => one.name());
  const found = new Map([[path, [...names, ...options, '--help'].join(' ')]]);
  const global = path === 'sdp' ? own : inherited;
  for (const one of command.commands) {
    for (const [below, words] of wordsByPath(one, `${path} ${one.name()}`, global)) found.set(below, words);
  }
  return found;
}

/** The path is the typed words that name commands. */
const bash = (cases: readonly string[]) => `# Completion of sdp for bash: source <(sdp completion bash)
_sdp_words() {
  case "$1" in
${cases.join('\n')}
    *) return 1 ;;
  esac
  printf '%s' "$words"
}
_sdp() {
  local path=sdp words word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if _sdp_words "$path $word" >/dev/null; then path="$path $word"; fi
  done
  words=$(_sdp_words "$path")
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _sdp sdp`;

const zsh = (cases: readonly string[]) => `#compdef sdp
# Completion of sdp for zsh: in a folder of $fpath as _sdp, or source <(sdp completion zsh)
_sdp_words() {
  local words
  case "$1" in
${cases.join('\n')}
    *) return 1 ;;
  esac
  print -r -- "$words"
}
_sdp() {
  local at=sdp word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if _sdp_words "$at $word" >/dev/null; then at="$at $word"; fi
  done
  local -a candidates
  candidates=(\${=$(_sdp_words "$at")})
  compadd -a candidates || _files
}
if [ "$funcstack[1]" = _sdp ]; then _sdp "$@"; else compdef _sdp sdp; fi`;
