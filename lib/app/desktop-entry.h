/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Desktop entries: the ids that apps go by, the names that people know them
 * by, and which program or window class belongs to which id. By the Desktop
 * Entry and Desktop Menu specifications; also what flatpak and snap export.
 */

#include <stdbool.h>
#include <stddef.h>

struct desktop_entry {
        char *id;       /* "org.mozilla.firefox", without ".desktop" */
        char *name;     /* localised, printable; NULL: it has none */
        char *program;  /* base name of what Exec starts; NULL: a wrapper that starts many */
        char *class;    /* StartupWMClass, or NULL */
        bool plain;     /* Exec has no argument but the file to open */
        bool snap;      /* exported by snapd: its id is SNAP_APP */
};

struct desktop_index;

/**
 * desktop_index_new() - read all desktop entries of a machine
 * @root_fd: folder of the machine's root; the folders below are relative to it
 * @folders: ':'-separated data folders, as in XDG_DATA_DIRS; earlier ones win. NULL: the usual ones of a system
 * @locale:  of names, as in LC_MESSAGES ("de_AT.UTF-8@euro"); NULL or "C": untranslated
 *
 * Return: 0, also where there are none; -ENOMEM; -EBADF.
 */
int desktop_index_new(int root_fd, const char *folders, const char *locale, struct desktop_index **ret);
void desktop_index_free(struct desktop_index *index);

/* Reads the folders again if one of them changed since. true: it did. */
bool desktop_index_refresh(struct desktop_index *index);

/* All return NULL if there is none. Valid until the next refresh. */
const struct desktop_entry *desktop_by_id(const struct desktop_index *index,
                                          const char *id); /* exact, then any case */
const struct desktop_entry *desktop_by_program(const struct desktop_index *index, const char *program);
/*
 * What a compositor calls a window: an id, a StartupWMClass,
 * or a program's name; in this order, in any case.
 */
const struct desktop_entry *desktop_by_window(const struct desktop_index *index, const char *app_id);

/*
 * The usual folders for the user that runs this:
 * the environment's, with flatpak's and snap's exports. malloc()ed.
 */
char *desktop_folders_of_user(void);

/* One entry's text. 0; -ENODATA: no application, or hidden; -ENOMEM. @ret's id is left alone. */
int desktop_entry_parse(const char *text, const char *locale, struct desktop_entry *ret);
void desktop_entry_clear(struct desktop_entry *entry);
