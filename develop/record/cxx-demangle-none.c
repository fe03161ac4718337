/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "cxx-name.h"

char *cxx_demangle(const char *symbol)
{
        return NULL;
}
