/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "util/log.h"

/* `joulecast learn`, which joulecast-fit runs as --learn. Returns the exit code. */
int learn_command(int argc, char **argv, const struct log *log);
