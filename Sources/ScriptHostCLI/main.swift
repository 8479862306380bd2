// The command `scripthost`: reads the line, runs the subcommand, says what is wrong.
internal import Glibc
internal import ScriptHost

exit(ScriptHostCommand.main(ScriptHostCommand.words()))
