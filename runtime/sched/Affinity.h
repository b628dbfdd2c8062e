// Which processors this process may use, and how a thread is bound to one.
#pragma once
#include "llvm/ADT/SmallVector.h"
#include <pthread.h>

namespace vetro {

/// The processors that the calling thread may run on, in the order in which threads should take
/// them: first one of each physical core, then the remaining hardware threads. Never empty.
llvm::SmallVector<unsigned> allowedCpus();

/// Binds a thread to one processor. Returns false where the system refuses; the thread then runs
/// unbound, which is slower but right.
bool bindThread(pthread_t thread, unsigned cpu);

} // namespace vetro
