//! Whether streams keep up with what they are asked for.

use super::ScenarioRun;
use crate::units::Ratio;

/// What is asked of a stream against what it can do.
#[derive(Debug, Clone, PartialEq)]
pub struct Pressure {
    /// The stream.
    pub stream: String,
    /// Requests a second that came; nothing of a run of no time.
    pub offered: Option<f64>,
    /// Requests a second that were served.
    pub served: Option<f64>,
    /// Requests a second that it could serve with nothing else to do.
    pub alone: Option<f64>,
    /// The busiest engine that it runs on, and the share of its time that all streams together ask for.
    pub engine: Option<(String, Ratio)>,
    /// Requests that wait or are in service at the end.
    pub unfinished: u64,
    /// Requests that were refused or dropped.
    pub lost: u64,
    /// True where its engine is asked for all of its time and more, or where many wait at the end.
    pub saturated: bool,
}

/// Requests that wait at the end from which a stream counts as saturated, and the share of all that came.
const MANY: (u64, f64) = (10, 0.01);

impl ScenarioRun<'_> {
    /// That of each stream.
    pub fn pressures(&self) -> impl Iterator<Item = Pressure> {
        (0..self.simulated.streams.len()).filter_map(|stream| self.pressure(stream))
    }

    /// That of one stream.
    pub fn pressure(&self, stream: usize) -> Option<Pressure> {
        let own = self.simulated.streams.get(stream)?;
        let outlook = self.outlook.streams.get(stream)?;
        let loads = self.outlook.engines.iter();
        let loads = loads.filter(|load| load.by_stream.iter().any(|(place, _)| *place == stream));
        let busiest = loads.max_by(|a, b| a.share.0.total_cmp(&b.share.0));
        let engine = busiest.map(|load| (load.engine.clone(), load.share));
        // Whoever waits for an answer before the next question is in no queue.
        let open = outlook.rate_between.is_none();
        let beyond = engine.as_ref().is_some_and(|(_, share)| share.0 >= 1.0);
        let many =
            own.unfinished >= MANY.0 && own.unfinished as f64 > own.served.asked as f64 * MANY.1;
        let alone = (outlook.request.0 > 0.0).then(|| 1.0 / outlook.request.0);
        Some(Pressure {
            stream: own.name.clone(),
            offered: self.per_second(own.served.asked),
            served: self.per_second(own.served.done),
            alone,
            engine,
            unfinished: own.unfinished,
            lost: own.served.refused.saturating_add(own.served.dropped),
            saturated: open && (beyond || many),
        })
    }
}

impl Pressure {
    /// What a reader has to know of a stream that does not keep up.
    pub fn words(&self) -> Option<String> {
        if !self.saturated {
            return None;
        }
        let mut text = format!("SATURATED: `{}`", self.stream);
        if let (Some(offered), Some(served)) = (self.offered, self.served) {
            text.push_str(&format!(" is asked {offered:.4} times a second and serves {served:.4}"));
        }
        if let Some((engine, share)) = &self.engine {
            let percent = share.0 * 100.0;
            text.push_str(&format!("; engine `{engine}` is asked for {percent:.0} % of its time"));
        }
        let (left, lost) = (self.unfinished, self.lost);
        text.push_str(&format!("; {left} wait at the end, {lost} were refused or dropped"));
        Some(text)
    }
}
