/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "forecast/cost.h"

/*
 * Names as the reader knows them: the desktop entry's,
 * in the reader's language. Without one the name stays.
 */
void names_localise(struct cost *cost);
