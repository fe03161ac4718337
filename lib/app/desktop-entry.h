/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Desktop entries: ids and names of apps, and their programs and window classes, by the Desktop Entry and Desktop
 * Menu specifications. Includes those that flatpak and snap export.
 */

#include <stdbool.h>
#include <stddef.h>

struct desktop_entry {
        char *id;       /* "org.mozilla.firefox", without ".desktop" */
        char *name;     /* localised, printable; NULL: it has none */
        char *program;  /* app_command_name() of the command in Exec; NULL: it asks another program to start it */
        char *path;     /* the same program as it is written in Exec */
        char *words;    /* Exec of a program that the table of leaders lacks, or a program in a container; or NULL */
        char *folder;   /* folder of that file with links resolved, without the first '/'; NULL: none */
        char *class;    /* StartupWMClass, or NULL */
        bool plain;     /* Exec has no argument other than the file to open */
        bool terminal;  /* its categories say that it is a terminal */
        bool snap;      /* exported by snapd: its id is SNAP_APP */
};

struct desktop_index;

/**
 * desktop_index_new() - read all desktop entries of a machine
 * @root_fd: folder of the machine's root; the folders below are relative to it
 * @folders: ':'-separated data folders as in XDG_DATA_DIRS, the first has priority; NULL: those of the system
 * @locale:  of names, as in LC_MESSAGES ("de_AT.UTF-8@euro"); NULL or "C": untranslated
 *
 * Return: 0, also where there are none; -ENOMEM; -EBADF.
 */
int desktop_index_new(int root_fd, const char *folders, const char *locale, struct desktop_index **ret);
/* The same, but nothing is read before desktop_index_refresh(). */
int desktop_index_open(int root_fd, const char *folders, const char *locale, struct desktop_index **ret);
void desktop_index_free(struct desktop_index *index);

/* Reads the folders again if one of them has changed. true: one had. */
bool desktop_index_refresh(struct desktop_index *index);

/* All return NULL if there is none. Valid until the next refresh. */
/* Prefers an exact match, else ignores case. */
const struct desktop_entry *desktop_by_id(const struct desktop_index *index, const char *id);
const struct desktop_entry *desktop_by_program(const struct desktop_index *index, const char *program);
/* By the path of an executable file: the entry whose program leads into the same folder. */
const struct desktop_entry *desktop_by_file(const struct desktop_index *index, const char *path);
/* By the folder of an app: the entry whose program is in this folder or below it. */
const struct desktop_entry *desktop_by_folder(const struct desktop_index *index, const char *folder);
const char *desktop_last_part(const char *id); /* "Maps" of "org.gnome.Maps" */
/* By a window's id or class: compares ids, then StartupWMClass, then programs, ignoring case. */
const struct desktop_entry *desktop_by_window(const struct desktop_index *index, const char *app_id);

/* The name of a game of Steam, by Steam's files in the data folders and in the homes of users. */
bool desktop_steam_name(const struct desktop_index *index, unsigned number, char *ret, size_t size);

/* This machine's entries, with names in the user's language. NULL: none can be read. */
struct desktop_index *desktop_index_of_user(void);

/* Parses an entry. 0; -ENODATA: no application, or hidden; -ENOMEM. Does not set @ret's id. */
int desktop_entry_parse(const char *text, const char *locale, struct desktop_entry *ret);
void desktop_entry_clear(struct desktop_entry *entry);
