"""Settings: a sheet over the window with one small page each for the model, the look and the retries.

Changes apply at once, through Preferences; a value that is refused says why under its field.
"""

from reprise.ui.settings.sheet import SettingsSheet

__all__ = ["SettingsSheet"]
