/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The tables of a database of a community. */

#include "database.h"

#define TABLES_VERSION 2

/* Makes all of them. */
int tables_make(struct database *database);
