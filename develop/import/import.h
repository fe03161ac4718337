/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * `joulecast profile import`: a power_profile.xml of Android becomes a profile, in the file --output or on
 * standard output. `joulecast profile` has looked at its options. An exit code.
 */
int import_main(int argc, char **argv);
