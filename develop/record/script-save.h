/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * script_save() - run a program in a terminal of 80 columns and 24 lines, and keep what is typed into it as
 * an input script
 * @path: of the script; it must not be there
 *
 * Return: 0; a negative errno after its sentence.
 */
int script_save(char *const argv[], const char *path);

/*
 * script_save_windows() - run a program on $DISPLAY, and keep what comes to its windows as an input script
 * @path: of the script; it must not be there
 *
 * Return: 0; a negative errno after its sentence.
 */
int script_save_windows(char *const argv[], const char *path);

/*
 * Before a session whose input would be lost. 0; a negative errno after its sentence: @path is there, or
 * cannot be written.
 */
int script_save_check(const char *path);
