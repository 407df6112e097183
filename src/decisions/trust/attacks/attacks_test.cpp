#include <gtest/gtest.h>

#include "decisions/trust/attacks/arena.h"
#include "decisions/trust/attacks/measures.h"
