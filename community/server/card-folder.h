/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Profiles that clients shared: FOLDER/CLIENT-profile.ini and FOLDER/NETWORK/CLIENT-profile.ini. */

#include <stdbool.h>

/* Removes a client's profile. @folder may be NULL. Returns 1; 0: there is no profile; a negative errno. */
int card_folder_forget(const char *folder, const char *hex);
/* Marks a client, so that its present and later profiles count in no pool; or unmarks it. Returns the same. */
int card_folder_quarantine(const char *folder, const char *hex, bool quarantined);
bool card_folder_is_quarantined(int folder_fd, const char *hex);
