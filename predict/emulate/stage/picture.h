/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What an X server shows, as light and colours. */

#include "record.h"

struct picture;

/* 0, and picture_free() it; -EIO: there is no such server, or it has neither shared memory nor XDamage. */
int picture_new(const char *display, struct picture **ret);
void picture_free(struct picture *picture);
/* The picture, if anything was drawn since the last call, or this is the first one. 1, and @ret but its time; 0; -EIO. */
int picture_look(struct picture *picture, struct frame_record *ret);
