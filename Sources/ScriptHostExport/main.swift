// scripthost-export — the sidecar that `scripthost export`, `query` and `report` run: it reads journals, and writes files,
// answers scrapes or sends to a collector. Programs themselves never use the network for us.
//
//     scripthost-export JOB NAME=VALUE…      the command checks what a person types; see ExportJob
import Exporters
import Foundation

exit(ExportJob.main(Array(CommandLine.arguments.dropFirst())))
