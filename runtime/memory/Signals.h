// Two signals of the process: SIGBUS, which the kernel sends when mapped bytes of a model file are
// gone, and SIGINT (Ctrl-C). Both are noted, the one with its mapping, and asked about between
// steps. This is the only file with global state, because a signal handler can reach nothing else.
#pragma once
#include <cstddef>

namespace vetro {

/// Installs the SIGBUS handler; may be called again. A fault inside a registered range maps zeros
/// from there to the range's end and is noted there, so that the step goes on with wrong numbers
/// and its result is thrown away; any other fault does what it did before.
void installMappedFaultHandler();

/// Makes [begin, begin + sizeBytes) a range in which a fault is survived; none has happened in it
/// yet. False where 256 ranges are registered already: faults there end the process as before. Any
/// thread.
bool registerMappedRange(const void *begin, size_t sizeBytes);

/// Forgets a range; call it before its munmap, when nobody reads it any more. Any thread.
void unregisterMappedRange(const void *begin);

/// The address of the first fault in the registered range that begins here, or null. What lies
/// there must be mapped again: part of it reads as zero. Any thread.
const void *faultInMappedRange(const void *begin);

/// What a Ctrl-C does while the flag of the one before it is set.
enum class SecondInterrupt { EndsProcess, IsDropped };

/// Installs the SIGINT handler: the first Ctrl-C sets a flag, the second ends the process the way
/// an unhandled one does. A library inside another program installs it only while it computes, and
/// drops the second one: what the program holds is not ours to lose.
void installInterruptHandler(SecondInterrupt second = SecondInterrupt::EndsProcess);

/// While one lives, the first Ctrl-C that the handler above gets ends the process at once, with
/// exit code 130: for work such as loading, which has produced nothing and looks at no flag.
class InterruptEndsProcess {
public:
  InterruptEndsProcess();
  ~InterruptEndsProcess();
  InterruptEndsProcess(const InterruptEndsProcess &) = delete;
  InterruptEndsProcess &operator=(const InterruptEndsProcess &) = delete;
};

/// Gives SIGINT back to the handler that was there before.
void removeInterruptHandler();

/// Whether Ctrl-C was pressed since the last clear.
bool interrupted();

void clearInterrupted();

} // namespace vetro
