/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The picture that an X server shows, as light and colours. */

#include "../record.h"

struct picture;

/* 0, and picture_free() it; -EIO: there is no such server, or it has neither shared memory nor XDamage. */
int picture_new(const char *display, struct picture **ret);
void picture_free(struct picture *picture);
/*
 * Takes the picture, if anything was drawn since the last call, or this is the first one. 1, with all of @ret but its
 * time; 0: nothing was drawn; -EIO.
 */
int picture_look(struct picture *picture, struct frame_record *ret);
