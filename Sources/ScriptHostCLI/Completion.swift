// Completion — shell scripts made from the interface: scripthost completion bash|zsh|fish.

/// Writes completion scripts.
enum CompletionScript {
  /// The text for `source <(scripthost completion bash)`.
  static func bash(_ commands: [Subcommand]) -> String {
    let cases = commands.map { command -> String in
      let values = command.options.filter { $0.value != nil }.map { option in
        "        \(option.spellings.joined(separator: "|"))) \(bashAction(option.completion)); return ;;\n"
      }.joined()
      let first = bashAction(firstOperand(command)), rest = restOfOperands(command).map(bashAction)
      let words = (command.options.flatMap(\.spellings) + ["--help"]).joined(separator: " ")
      return """
            \(command.name))
              case "$previous" in
        \(values)      *) ;;
              esac
              if [[ $current == -* ]]; then COMPREPLY=($(compgen -W '\(words)' -- "$current")); return; fi
              \(rest.map { "if ((COMP_CWORD == 2)); then \(first); else \($0); fi" } ?? first)
              ;;

        """
    }.joined()
    let names = commands.map(\.name).joined(separator: " ")
    return """
      # bash completion for scripthost; use it with: source <(scripthost completion bash)
      _scripthost_patches() {
        local pid=
        if [[ ${COMP_WORDS[2]} == load ]]; then COMPREPLY=($(compgen -f -- "$current")); return; fi
        if ((COMP_CWORD > 3)) && [[ ${COMP_WORDS[3]} =~ ^[0-9]+$ ]]; then pid=${COMP_WORDS[3]}; fi
        COMPREPLY=($(compgen -W "$(\(patchIDs))" -- "$current"))
      }
      _scripthost() {
        local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} i
        COMPREPLY=()
        if ((COMP_CWORD == 1)); then
          COMPREPLY=($(compgen -W '\(names) help --help --version' -- "$current"))
          return
        fi
        # After "--" stands a program with its own arguments.
        for ((i = 2; i < COMP_CWORD; i++)); do
          if [[ ${COMP_WORDS[i]} == -- ]]; then
            if ((COMP_CWORD == i + 1)); then COMPREPLY=($(compgen -c -- "$current"))
            else COMPREPLY=($(compgen -f -- "$current")); fi
            return
          fi
        done
        case ${COMP_WORDS[1]} in
          help) COMPREPLY=($(compgen -W '\(names)' -- "$current")) ;;
      \(cases)  esac
      }
      complete -o filenames -F _scripthost scripthost

      """
  }

  private static func firstOperand(_ command: Subcommand) -> Option.Completion {
    switch command.operands {
    case .none, .program: .none
    case .optional(_, let completion), .one(_, let completion), .several(_, _, let completion, _): completion
    }
  }

  /// Of operands behind the first; nil: as the first.
  private static func restOfOperands(_ command: Subcommand) -> Option.Completion? {
    switch command.operands {
    case .none, .program, .optional, .one: nil
    // Files may be many.
    case .several(_, _, .file, _): nil
    case .several(_, _, _, let rest): rest
    }
  }

  /// A command that prints the ids of patches, which hold no characters that shells know.
  private static let patchIDs = #"scripthost patch list --json $pid 2>/dev/null | sed -n 's/^{"id":"\([^"]*\)".*/\1/p'"#

  /// A command that prints the numbers of hosted processes.
  private static let processes = #"scripthost ps --json 2>/dev/null | sed -n 's/.*"pid":\([0-9]*\).*/\1/p'"#

  private static func bashAction(_ completion: Option.Completion) -> String {
    switch completion {
    case .none: ":"
    case .file: "COMPREPLY=($(compgen -f -- \"$current\"))"
    case .directory: "COMPREPLY=($(compgen -d -- \"$current\"))"
    case .program: "COMPREPLY=($(compgen -c -- \"$current\"))"
    case .words(let words): "COMPREPLY=($(compgen -W '\(words.joined(separator: " "))' -- \"$current\"))"
    case .patches: "_scripthost_patches"
    case .processes: "COMPREPLY=($(compgen -W \"$(\(processes))\" -- \"$current\"))"
    }
  }

  /// For a file scripthost.fish in a directory of $fish_complete_path.
  static func fish(_ commands: [Subcommand]) -> String {
    let before = "not __fish_seen_subcommand_from \(commands.map(\.name).joined(separator: " "))"
    var lines = [
      "# fish completion for scripthost", "function __scripthost_patches; \(patchIDs); end",
      "function __scripthost_processes; \(processes); end", "complete -c scripthost -f",
      "complete -c scripthost -n '\(before)' -l help -l version",
      "complete -c scripthost -n '\(before)' -a help -d 'show the manual page of a command'",
      "complete -c scripthost -n '__fish_seen_subcommand_from help' -a '\(commands.map(\.name).joined(separator: " "))'",
    ]
    for command in commands {
      lines.append("complete -c scripthost -n '\(before)' -a \(command.name) -d \(fishQuoted(command.summary))")
      let after = "complete -c scripthost -n '__fish_seen_subcommand_from \(command.name)'"
      for option in command.options {
        var line = after
        if let short = option.short { line += " -s \(short)" }
        if let long = option.long { line += " -l \(long)" }
        if option.value != nil { line += " -r" + fishAction(option.completion) }
        let sentence = option.help.split(separator: ". ")[0].prefix { $0 != ";" }
        lines.append(line + " -d " + fishQuoted(String(sentence.hasSuffix(".") ? sentence.dropLast() : sentence)))
      }
      let operands = fishAction(firstOperand(command))
      if !operands.isEmpty, case .several(_, _, .words(let words), let rest) = command.operands {
        let seen = "__fish_seen_subcommand_from \(words.joined(separator: " "))"
        lines.append("complete -c scripthost -n '__fish_seen_subcommand_from \(command.name); and not \(seen)'" + operands)
        let others = fishAction(rest)
        if !others.isEmpty { lines.append("complete -c scripthost -n '__fish_seen_subcommand_from \(command.name); and \(seen)'" + others) }
      } else if !operands.isEmpty {
        lines.append(after + operands)
      }
      if case .program = command.operands { lines.append(after + " -a '(__fish_complete_command)'") }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func fishAction(_ completion: Option.Completion) -> String {
    switch completion {
    case .none: ""
    case .file: " -F"
    case .directory: " -a '(__fish_complete_directories)'"
    case .program: " -a '(__fish_complete_command)'"
    case .words(let words): " -a '\(words.joined(separator: " "))'"
    case .patches: " -F -a '(__scripthost_patches)'"
    case .processes: " -a '(__scripthost_processes)'"
    }
  }

  private static func fishQuoted(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
  }

  /// The text for a file `_scripthost` in a directory of $fpath, or `source <(scripthost completion zsh)`.
  static func zsh(_ commands: [Subcommand]) -> String {
    let list = commands.map { "    '\($0.name):\(quoted($0.summary))'" }.joined(separator: "\n")
    let cases = commands.map { command in
      let specifications = command.options.map { "        \(zshOption($0))" } + ["        '(-h --help)'{-h,--help}'[show the manual page]'"]
      return "    \(command.name)) _arguments -s -S \\\n"
        + (specifications + ["        \(zshOperands(command))"]).joined(separator: " \\\n") + " ;;"
    }.joined(separator: "\n")
    return """
      #compdef scripthost
      # zsh completion for scripthost; put it into a directory of $fpath as _scripthost,
      # or use it with: source <(scripthost completion zsh)
      _scripthost_patches() {
        local pid=
        if [[ $words[2] == load ]]; then _files; return; fi
        if (( CURRENT > 3 )) && [[ $words[3] == <-> ]]; then pid=$words[3]; fi
        compadd -- ${(f)"$(\(patchIDs))"}
      }
      _scripthost_processes() { compadd -- ${(f)"$(\(processes))"} }
      _scripthost() {
        local -a commands
        commands=(
      \(list)
          'help:show the manual page of a command'
        )
        if (( CURRENT == 2 )); then
          _describe command commands
          return
        fi
        local command=$words[2]
        shift words
        (( CURRENT-- ))
        case $command in
          help) _arguments ':command:(\(commands.map(\.name).joined(separator: " ")))' ;;
      \(cases)
        esac
      }
      if [[ $funcstack[1] == _scripthost ]]; then _scripthost "$@"; else compdef _scripthost scripthost; fi

      """
  }

  private static func zshOption(_ option: Option) -> String {
    let names = option.spellings
    let exclusion = option.repeats ? "'*'" : "'(\(names.joined(separator: " ")))'"
    let spelled = names.count > 1 ? "{\(names.joined(separator: ","))}" : names[0]
    let value = option.value.map { ":\($0):\(zshAction(option.completion))" } ?? ""
    let sentence = option.help.split(separator: ". ").first.map(String.init) ?? ""
    return "\(exclusion)\(spelled)'[\(quoted(sentence))]\(value)'"
  }

  private static func zshOperands(_ command: Subcommand) -> String {
    switch command.operands {
    case .none: "'*: :'"
    case .program: "'*::program: _normal'"
    case .optional(let name, let completion): "'::\(name):\(zshAction(completion))'"
    case .one(let name, let completion): "':\(name):\(zshAction(completion))'"
    case .several(_, _, let completion, let rest): "':program:\(zshAction(completion))' '*: :\(zshAction(rest))'"
    }
  }

  private static func zshAction(_ completion: Option.Completion) -> String {
    switch completion {
    case .none: " "
    case .file: "_files"
    case .directory: "_files -/"
    case .program: "_command_names -e"
    case .words(let words): "(\(words.joined(separator: " ")))"
    case .patches: "_scripthost_patches"
    case .processes: "_scripthost_processes"
    }
  }

  /// Text inside '[…]' of a zsh specification.
  private static func quoted(_ text: String) -> String {
    text.map { character in
      switch character {
      case "'": "'\\''"
      case "[", "]", ":": "\\" + String(character)
      default: String(character)
      }
    }.joined()
  }
}
