/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Detects that somebody touches the machine: keys, pointers, touch screens and switches (a lid) by the kernel's
 * input devices (Documentation/input/input.rst). Keys are not recorded.
 */

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#define INPUT_DEVICES_MAX 64

struct input {
        int folder_fd; /* /dev/input; -1: there is none */
        struct pollfd devices[INPUT_DEVICES_MAX];
        char names[INPUT_DEVICES_MAX][16];
        size_t n;
};

/* Devices that may not be read are left out. */
void input_open(int root_fd, struct input *ret);
void input_close(struct input *input);
void input_list(struct input *input); /* list again: one came or went */
bool input_touched(struct input *input); /* since the last call */
