/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Becomes a program of joulecast: in the build folder the one of the same build and no other; installed, that of the libexec folder,
 * of the folder that this program is in, or of the PATH. @folder: where the build has it. Returns if there is none.
 */
void program_exec(const char *folder, const char *program, char **argv);
