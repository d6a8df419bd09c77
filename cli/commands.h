// The subcommands, one file each.

#ifndef PROOFMILL_CLI_COMMANDS_H_
#define PROOFMILL_CLI_COMMANDS_H_

#include <memory>

#include "cli/command.h"

namespace proofmill::cli {

std::unique_ptr<Command> MakeServeCommand();
std::unique_ptr<Command> MakeApiKeyCommand();
std::unique_ptr<Command> MakeProveCommand();
std::unique_ptr<Command> MakeVerifyCommand();
std::unique_ptr<Command> MakeVkeyCommand();
std::unique_ptr<Command> MakeCalldataCommand();
std::unique_ptr<Command> MakeInspectCommand();
std::unique_ptr<Command> MakeSetupCommand();
std::unique_ptr<Command> MakeSynthCommand();

std::unique_ptr<Command> MakeClientProveCommand();
std::unique_ptr<Command> MakeClientSubmitCommand();
std::unique_ptr<Command> MakeClientWatchCommand();
std::unique_ptr<Command> MakeClientJobCommand();
std::unique_ptr<Command> MakeClientJobsCommand();
std::unique_ptr<Command> MakeClientCancelCommand();
std::unique_ptr<Command> MakeClientDeleteCommand();
std::unique_ptr<Command> MakeClientVerifyCommand();
std::unique_ptr<Command> MakeClientWhirProveCommand();
std::unique_ptr<Command> MakeClientWhirVerifyCommand();
std::unique_ptr<Command> MakeClientCircuitsCommand();
std::unique_ptr<Command> MakeClientCircuitsLoadCommand();
std::unique_ptr<Command> MakeClientCircuitsUnloadCommand();
std::unique_ptr<Command> MakeClientCircuitsAliasCommand();
std::unique_ptr<Command> MakeClientStatusCommand();
std::unique_ptr<Command> MakeClientLogLevelCommand();
std::unique_ptr<Command> MakeClientHealthCommand();

std::unique_ptr<Command> MakeLoadCommand();

std::unique_ptr<Command> MakeWhirProveCommand();
std::unique_ptr<Command> MakeWhirVerifyCommand();
std::unique_ptr<Command> MakeWhirBenchCommand();
std::unique_ptr<Command> MakeWhirCheckVectorCommand();

std::unique_ptr<Command> MakeBenchProveCommand();
std::unique_ptr<Command> MakeBenchMsmCommand();
std::unique_ptr<Command> MakeBenchNttCommand();

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_COMMANDS_H_
