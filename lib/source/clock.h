/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "source.h"

int clock_open(int root_fd, struct source **ret);
