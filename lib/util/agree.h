/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/*
 * Asks @question, translated, on @file, and reads a line of the standard input. true: it begins with y, or
 * with the letter for yes in the user's language; false: anything else, or nothing more can be read.
 */
bool agree_ask(FILE *file, const char *question);
